/** The third kind of failure: a user's or caller's mistake. Expected outcomes are values; anything else is a bug and keeps its stack. */
export type ErrorCode =
  | "usage"
  | "not_found"
  | "agent_not_found"
  | "invalid_definition"
  | "invalid_setting"
  | "invalid_template"
  | "model_unknown"
  | "provider_missing"
  | "untrusted"
  | "permission_refused"
  | "depth_exceeded"
  | "limit_exceeded"
  | "needs_person"
  | "sandbox_missing"
  | "locked"
  | "interrupted"
  | "unsupported"
  | "failed";

const EXIT_CODES: Record<ErrorCode, number> = {
  usage: 2,
  not_found: 2,
  agent_not_found: 2,
  invalid_definition: 3,
  invalid_setting: 3,
  invalid_template: 3,
  model_unknown: 2,
  provider_missing: 1,
  untrusted: 4,
  permission_refused: 2,
  depth_exceeded: 1,
  limit_exceeded: 1,
  needs_person: 4,
  sandbox_missing: 4,
  locked: 75,
  interrupted: 130,
  unsupported: 1,
  failed: 1,
};

export class CruError extends Error {
  override readonly name = "CruError";
  readonly code: ErrorCode;
  /** What the user can do next, one sentence. */
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
  }

  get exitCode(): number {
    return EXIT_CODES[this.code];
  }
}
