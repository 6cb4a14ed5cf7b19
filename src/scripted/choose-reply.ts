import type { ScriptedRequest } from "./request.ts";
import { replySchema, type ReplyFunction, type Script, type ScriptedReply, type ScriptedRule, scriptSchema } from "./script.ts";

export type Chosen = { reply: ScriptedReply; rule: string } | { unmatched: string };
type Rule = Omit<ScriptedRule, "replies"> & { replies: ScriptedReply[] | ReplyFunction };

/** A chooser with one counter per rule. The first rule that matches answers; a counter moves before anything waits, so parallel calls never share a reply. */
export function replyChooser(script: Script): (request: ScriptedRequest) => Promise<Chosen> {
  const rules = rulesOf(script).map((rule, i) => ({ ...rule, name: rule.name ?? `rule ${i + 1}`, calls: 0 }));
  return async (request) => {
    const rule = rules.find((r) => matches(r.match, request));
    if (rule === undefined) return { unmatched: `no rule of the script matches this request (system "${head(request.system)}", last user text "${head(request.users.at(-1))}")` };
    const call = rule.calls++;
    if (typeof rule.replies === "function") return { reply: replySchema.parse(await rule.replies(request, call)), rule: rule.name };
    const index = rule.by === "turn" ? request.turns : call;
    const reply = rule.replies[index] ?? (rule.repeat_last === true ? rule.replies.at(-1) : undefined);
    return reply === undefined ? { unmatched: `${rule.name} of the script has ${rule.replies.length} replies; this is request ${index + 1}` } : { reply, rule: rule.name };
  };
}

function rulesOf(script: Script): Rule[] {
  if (typeof script === "function") return [{ name: "script", match: {}, replies: script }];
  if (Array.isArray(script)) return [{ name: "script", match: {}, replies: check(script) as ScriptedReply[] }];
  // Computed replies are no JSON: such a rule is checked without them, and each reply when it is made.
  return script.rules.map((rule) => {
    const { replies, ...rest } = rule;
    const [checked] = (check({ rules: [{ ...rest, replies: typeof replies === "function" ? [] : replies }] }) as { rules: ScriptedRule[] }).rules;
    return { ...(checked as ScriptedRule), ...(typeof replies === "function" ? { replies } : {}) };
  });
}

function check(script: unknown): unknown {
  return scriptSchema.parse(script);
}

function matches(match: ScriptedRule["match"], request: ScriptedRequest): boolean {
  const holds = (text: string | undefined, wanted: string | undefined) => wanted === undefined || (text ?? "").includes(wanted);
  return (
    holds(request.system, match.system) &&
    holds(request.users[0], match.first_user) &&
    holds(request.users.at(-1), match.last_user) &&
    holds(request.users.join("\n"), match.any_user) &&
    holds(request.model, match.model) &&
    (match.tool === undefined || request.tools.includes(match.tool))
  );
}

function head(text: string | undefined): string {
  return (text ?? "").replace(/\s+/g, " ").slice(0, 80);
}
