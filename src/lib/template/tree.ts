/** A parsed template. `at` is an offset into the source; a place is worked out only when there is something to report. */
export type Template = {
  name: string;
  text: string;
  nodes: Node[];
  /** Every include that is written, reached or not. */
  includes: { name: string; at: number }[];
};

export type Node =
  | { kind: "text"; at: number; text: string }
  | { kind: "show"; at: number; value: Expression }
  | { kind: "set"; at: number; slot: number; value: Expression }
  | { kind: "if" | "with"; at: number; branches: Branch[]; otherwise: Node[] }
  | { kind: "range"; at: number; subject: Expression; key: number | undefined; item: number | undefined; body: Node[]; otherwise: Node[] }
  | { kind: "break" | "continue"; at: number };

export type Branch = { subject: Expression; slot: number | undefined; body: Node[] };

/** `a | f x` is parsed as `f x a`. Variables are resolved to slots while parsing; slot 0 is `$`. */
export type Expression = { at: number; depth: number } & (
  | { kind: "literal"; value: string | number | boolean | null }
  | { kind: "dot" }
  | { kind: "variable"; slot: number }
  | { kind: "path"; base: Expression; names: { name: string; at: number }[] }
  | { kind: "call"; name: string; args: Expression[] }
  | { kind: "include"; name: string; args: { name: string; value: Expression }[] }
);
