import type { CruEvent } from "../../contract/event.ts";
import type { RequestEvent } from "./full-request.ts";

/** The model calls of a recording that a replay makes again: all but explanations that nobody waited for to the end. */
export function playedRequests(events: readonly CruEvent[]): RequestEvent[] {
  const requests = events.flatMap((event, at) => (event.type === "model.request" ? [{ event, at }] : []));
  return requests.filter(({ event, at }) => event.purpose !== "explanation" || wasTold(event, events.slice(at + 1))).map(({ event }) => event);
}

/** An explanation that was given is recorded before the agent asks its model anything else. */
function wasTold(request: RequestEvent, after: readonly CruEvent[]): boolean {
  const next = after.find((e) => e.type === "inbox.context" || e.type === "model.request" ? e.span_id === request.span_id : false);
  return next?.type === "inbox.context";
}
