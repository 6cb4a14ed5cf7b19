import { z } from "zod";

export const pathSchema = z.string().min(1).max(4096).describe("Relative to the workspace");
