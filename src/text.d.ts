/** Prose for a model lives in `.md` beside the code and is bundled as text. */
declare module "*.md" {
  const text: string;
  export default text;
}
