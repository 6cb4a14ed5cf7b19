import { z } from "zod";

/** `input` is the whole prompt; `cache_read` and `cache_write` are the parts of it that were read from or written to a cache. */
export const tokensSchema = z.object({
  input: z.int().min(0),
  output: z.int().min(0),
  cache_read: z.int().min(0).optional(),
  cache_write: z.int().min(0).optional(),
});

export type Tokens = z.infer<typeof tokensSchema>;

/** Unknown cost is null, never 0. */
export const costSchema = z.number().min(0).nullable();
