import { setUp } from "../scripts/setup.mjs";

/** Tests drive the built program, so it is built from the sources under test. */
export default function build(): void {
  setUp();
}
