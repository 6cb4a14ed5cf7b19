/** Characters that one text, or one whole result, may have. */
export const MOST_TEXT = 10_000_000;
/** Steps that one rendering may take. */
export const MOST_WORK = 5_000_000;
