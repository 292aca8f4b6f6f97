/** One person, as the services know them. */
import type { Plan } from '#accounts/api.ts';
import type { CreditChange, PersonDetails } from '#accounts/people/api.ts';
import type { ThreadCounts, ThreadPage, UsageDays } from '../../../client/agent/api.ts';
import type { AssetPage, IncidentPage, MediaUsage } from '../../../client/media/api.ts';
import type { MemoryPage } from '../../../client/memory/api.ts';
import type { MailsOfPerson } from '../../../client/notify/api.ts';
import type { Part } from '../../services.ts';
import { countOf } from '../parts/figures.tsx';

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

export const allPlans: readonly Plan[] = ['free', 'basic', 'basic_year', 'pro', 'pro_year', 'max', 'max_year'];

/** `max_year` is shown as `max, yearly`. */
export const planName = (plan: string): string => plan.replace('_year', ', yearly');

/** The audit log records requests of operators by method and route. These are their names for readers; `{}` is the user. */
const deeds: Readonly<Record<string, string>> = {
  'cancel mail': 'Canceled an email',
  credits: 'Set the plan and credits of {}',
  'discard dead jobs': 'Discarded all dead jobs',
  'discard job': 'Discarded a job',
  'import-legacy': 'Imported a legacy file',
  'lift suppression': 'Lifted the suppression of an address',
  'read stream': 'Read the stream of a run of {}',
  rescreen: 'Screened all assets again',
  'retry dead jobs': 'Retried all dead jobs',
  'retry job': 'Retried a job',
  seed: 'Created sample users',
  'send webhook again': 'Sent a webhook again',
  'sweep --apply': 'Removed objects that nothing needs',
  'view file': 'Viewed a file of {}',
  'DELETE /admin/entities/:entity_type/:entity_id': 'Erased the memory of a user or group',
  'DELETE /admin/memories/:id': 'Deleted a memory',
  'DELETE /admin/profiles/:entity_type/:entity_id': 'Deleted a profile',
  'GET /admin/entities/:entity_type/:entity_id/export': 'Exported the memory of a user or group',
  'POST /admin/memories': 'Created a memory',
  'POST /admin/memories/:id/undo': 'Undid a change of a memory',
  'PUT /admin/memories/:id': 'Edited a memory',
  'PUT /admin/profiles/:entity_type/:entity_id': 'Edited a profile',
  'DELETE /people/:userId': 'Erased conversations of {}',
  'DELETE /v1/people/:userId': 'Erased files of {}',
  'DELETE /v1/people/:userId/sessions': 'Ended the sessions of {}',
  'GET /v1/incidents/:id/evidence': 'Read the evidence of an incident',
  'GET /v1/incidents/:id/export': 'Exported an incident for authorities',
  'GET /v1/incidents/:id/preview': 'Viewed the content of an incident',
  'POST /people/:userId/erasure': 'Erased the account of {}',
  'POST /people/erasure': 'Erased emails of {}',
  'POST /v1/accounts/seed': 'Created sample users',
  'POST /v1/assets/legacy': 'Imported a legacy file',
  'POST /v1/incidents/:id/decision': 'Decided an incident',
  'POST /v1/incidents/:id/export': 'Exported an incident',
  'POST /v1/incidents/:id/resolution': 'Resolved an incident',
  'POST /v1/people/:userId/credits': 'Changed the plan or credits of {}',
  'POST /v1/people/:userId/exports': 'Exported the data of {}',
  'POST /v1/rescreen': 'Screened all assets again',
  'POST /v1/sweep': 'Swept objects',
  'PUT /v1/accounts/credits': 'Set the plan and credits of {}',
};

const verbs: Readonly<Record<string, string>> = {
  GET: 'Read',
  POST: 'Requested',
  PUT: 'Changed',
  PATCH: 'Changed',
  DELETE: 'Deleted',
};

/** An action without a name is read from its route, such as `Deleted memories` for `DELETE /admin/memories/:id`. */
export function deedOf(action: string): string {
  const [, method = '', path = ''] = /^([A-Z]+) \/(.*)$/.exec(action) ?? [];
  const words = path.split('/').filter((word) => !/^(?::.*|v\d+|admin)$/.test(word));
  const verb = verbs[method];
  return deeds[action] ?? (verb === undefined ? action : `${verb} ${words.join(', ').replaceAll(/[-_]/g, ' ')}`);
}

/** The log has the status of a request, or the word of a command. */
export const outcomeOf = (outcome: string): string =>
  /^2\d\d$/.test(outcome) ? 'done' : /^\d+$/.test(outcome) ? `failed with status ${outcome}` : outcome;

/** Such as `1,000 to 1,500 credits, pro to max`. */
export function differenceOf({ planBefore, planAfter, creditsBefore, creditsAfter }: CreditChange): string {
  const parts = [
    creditsAfter === creditsBefore ? '' : `${countOf(creditsBefore)} to ${countOf(creditsAfter)} credits`,
    planAfter === planBefore ? '' : `${planName(planBefore)} to ${planName(planAfter)}`,
  ];
  return parts.filter((text) => text !== '').join(', ');
}
