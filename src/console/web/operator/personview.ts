/** One person, as the services know them. */
import type { PersonDetails } from '#accounts/people/api.ts';
import type { ThreadCounts, ThreadPage, UsageDays } from '../../../client/agent/api.ts';
import type { AssetPage, IncidentPage, MediaUsage } from '../../../client/media/api.ts';
import type { MemoryPage } from '../../../client/memory/api.ts';
import type { MailsOfPerson } from '../../../client/notify/api.ts';
import type { Part } from '../../services.ts';

/** The parts come from several services, and each can be unavailable. */
export interface PersonView {
  readonly record: PersonDetails;
  readonly conversations: Part<ThreadCounts>;
  readonly threads: Part<ThreadPage>;
  readonly usage: Part<UsageDays>;
  readonly storage: Part<MediaUsage>;
  readonly assets: Part<AssetPage>;
  readonly incidents: Part<IncidentPage>;
  readonly memories: Part<MemoryPage>;
  /** `null`: the person has no address. */
  readonly mails: Part<MailsOfPerson> | null;
}

export const personKey = (userId: string) => ['person', userId] as const;

/** `max_year` is shown as `max, yearly`. */
export const planName = (plan: string): string => plan.replace('_year', ', yearly');
