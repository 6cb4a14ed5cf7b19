import { type ChatEnd, type ChatListener, openChatSession, type OpenRequest } from "./chat-session.ts";

export type ChatRequest = OpenRequest & {
  /** Undefined only with `resume`. */
  message: string | undefined;
  signal: AbortSignal;
};

/** One request to a primary agent, or the rest of one that was cut short: opens the session, runs the loop, closes the session. */
export async function runChat(request: ChatRequest, listener: ChatListener): Promise<ChatEnd> {
  const chat = await openChatSession(request, listener);
  const end = await chat.turn({ message: request.message, signal: request.signal, takeGuidance: () => [] });
  await chat.close(end.status);
  return end;
}
