import type { NewEvent } from "../../contract/event.ts";
import type { Notifier } from "../../notify/open-notifier.ts";
import type { ChatEnd } from "./chat-session.ts";

export type Notices = { event(event: NewEvent): void; ended(end: ChatEnd, turn: number): void };

/**
 * What of a conversation a person is told about: a question when it is asked, and the end of a turn. A child's end is no notice, and
 * a turn ends only after all its children, so nobody is called while work still goes on.
 */
export function watchForNotices(notifier: Notifier, project: string): Notices {
  return {
    event(event) {
      if (event.type !== "inbox.opened") return;
      const notice = { event: "question", session_id: event.session_id ?? "", status: "waiting", inbox_id: event.id, title: event.title, text: event.body, project } as const;
      notifier.notify(notice, `question ${event.id}`);
    },
    ended(end, turn) {
      // Who waits was told with the question; who interrupts knows it.
      if (end.status === "waiting" || end.status === "interrupted" || end.status === "cancelled") return;
      const event = end.status === "blocked" ? "blocked" : "done";
      const title = end.error === null ? (event === "blocked" ? end.hint || "a person is needed" : "done") : `${end.error.type}: ${end.error.message}`;
      notifier.notify({ event, session_id: end.sessionId, status: end.status, inbox_id: null, title, text: end.answer, project }, `end ${end.sessionId} ${turn}`);
    },
  };
}
