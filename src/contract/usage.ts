import { z } from "zod";

export const tokensSchema = z.object({
  input: z.int().min(0),
  output: z.int().min(0),
  cache_read: z.int().min(0).optional(),
  cache_write: z.int().min(0).optional(),
});

export type Tokens = z.infer<typeof tokensSchema>;

/** Unknown cost is null, never 0. */
export const costSchema = z.number().min(0).nullable();
