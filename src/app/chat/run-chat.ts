import { type ChatEnd, type ChatListener, type ChatSession, openChatSession, type OpenRequest } from "./chat-session.ts";

export type ChatRequest = OpenRequest & {
  /** Undefined only with `resume`. */
  message: string | undefined;
  signal: AbortSignal;
};

/** One request to a primary agent, or the rest of one that was cut short: opens the session, runs the loop, closes the session. */
export async function runChat(request: ChatRequest, listener: ChatListener): Promise<ChatEnd> {
  const chat = await openChatSession(request, listener);
  // Its answer may never have been read: whoever was killed right after it asks for it like this.
  if (request.message === undefined && isDone(chat)) listener.warn(`this session was finished already; to go on: cru chat --resume ${chat.metadata()?.session_id ?? ""} "…"`);
  const end = await chat.turn({ message: request.message, signal: request.signal, takeGuidance: () => [] });
  await chat.close(end.status);
  return end;
}

/** The last turn reached its end: there is nothing to go on with. */
function isDone({ unfinished, events }: ChatSession): boolean {
  if (unfinished) return false;
  const primary = events.find((e) => e.type === "agent.started" && e.depth === 0);
  const last = events.findLast((e) => e.type === "agent.completed" && primary?.type === "agent.started" && e.span_id === primary.span_id);
  return last?.type === "agent.completed" && last.status === "completed";
}
