/** Thrown by functions, which do not know where they were called; the renderer adds the place. */
export class ValueFault extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}
