/** The vocabulary of the shared records (CONTRACT §11). */
import { z } from 'zod';

export const plans = ['free', 'basic', 'basic_year', 'pro', 'pro_year', 'max', 'max_year'] as const;
export const plan = z.enum(plans);
export type Plan = z.infer<typeof plan>;

/** What an account can hold: the column's type, rounded down. */
export const maxCredits = 2_000_000_000;

export interface Profile {
  /** The subject of the user's tokens, in lower case. */
  readonly id: string;
  /** `null`: nobody told it yet. */
  readonly email: string | null;
  /** One of the content languages; `null`: never told. */
  readonly language: string | null;
  readonly plan: Plan;
  /** Never negative. */
  readonly credits: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}
