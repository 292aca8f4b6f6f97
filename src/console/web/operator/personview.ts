/** One person, as the services know them. */
import type { Plan } from '#accounts/api.ts';
import type { ActionPage, CreditChange, PersonDetails } from '#accounts/people/api.ts';
import type { UserUsage } from '#agent/operatorapi.ts';
import type { IncidentPage } from '#media/incidents/api.ts';
import type { ThreadCounts, ThreadPage } from '../../../client/agent/api.ts';
import type { AssetMonths, AssetPage, MediaUsage } from '../../../client/media/api.ts';
import type { MemoryPage } from '../../../client/memory/api.ts';
import type { MailsOfPerson } from '../../../client/notify/api.ts';
import type { Part } from '../../services.ts';
import { countOf, planName } from '../parts/figures.tsx';
import deedNames from './deeds.json' with { type: 'json' };
import named from './verbs.json' with { type: 'json' };

/** The parts come from several services, and each can be unavailable. */
export interface PersonView {
  readonly record: PersonDetails;
  readonly conversations: Part<ThreadCounts>;
  readonly threads: Part<ThreadPage>;
  readonly usage: Part<UserUsage>;
  /** Up to 100 of each. */
  readonly failures: Part<Readonly<Record<'runs' | 'orders' | 'refused', number>>>;
  readonly storage: Part<MediaUsage>;
  readonly months: Part<AssetMonths>;
  readonly assets: Part<AssetPage>;
  readonly incidents: Part<IncidentPage>;
  readonly memories: Part<MemoryPage>;
  /** `null`: the person has no address. */
  readonly mails: Part<MailsOfPerson> | null;
}

export const allPlans: readonly Plan[] = ['free', 'basic', 'basic_year', 'pro', 'pro_year', 'max', 'max_year'];

/** The audit log records requests of operators by method and route. These are their names for readers; `{}` is the user. */
export const deeds: Readonly<Record<string, string>> = deedNames;

const verbs: Readonly<Record<string, string>> = named;

/** A view ends with the id of what was viewed, and with the run or the order that a file is of. */
function viewedIn(action: string) {
  const [, deed, id, origin, originId] = /^(view file|read stream) (\S+)(?: (run|order) (\S+))?$/.exec(action) ?? [];
  if (deed === undefined || id === undefined) return undefined;
  const run = deed === 'read stream' ? id : origin === 'run' ? originId : undefined;
  const href = run === undefined ? `/operator/runs?kind=generations&id=${originId}` : `/operator/runs/${run}`;
  return { deed, id, ...((run ?? originId) !== undefined && { href, of: run === undefined ? 'order' : 'run' }) };
}

type Action = Pick<ActionPage['actions'][number], 'action' | 'target'>;

/** The page that shows the subject, and the words of the link. */
export function placeOf({ action, target }: Action): readonly [href: string, words: string] | undefined {
  const viewed = viewedIn(action);
  if (viewed?.href !== undefined) return [viewed.href, `Open the ${viewed.of}`];
  // `incident <id>`, `job <id> of <queue>`, `delivery <id> of <event>`, `budget of the day: none to 5 USD`.
  const [kind = '', first = '', of] = target.split(' ');
  const id = target.slice(target.lastIndexOf(' ') + 1);
  const jobs = `jobs?queue=${encodeURIComponent(id)}`;
  const isDelivery = kind === 'delivery' || id === 'webhooks/deliver';
  if (isDelivery && of === 'of') return [`/operator/webhooks?q=${first}`, 'Open the delivery'];
  const path = new Map([
    ['incident', `incidents/${id}`],
    ['memory', action.startsWith('DELETE') ? undefined : `memory?memory=${id}`],
    ['mail', `mail?tab=sent&id=${id}`],
    ['content', 'content'],
    ['budget', 'models'],
    ['queue', jobs],
    ['job', of === 'of' ? `${jobs}&q=${first}` : undefined],
  ]).get(kind);
  return path === undefined ? undefined : [`/operator/${path}`, `Open the ${kind}`];
}

/** An action without a name is read from its route, such as `Deleted memories` for `DELETE /admin/memories/:id`. */
export function deedOf(action: string): string {
  // Of a decision, the action ends with what was chosen.
  const [route = viewedIn(action)?.deed ?? action, method = '', path = ''] = /^([A-Z]+) \/(\S*)/.exec(action) ?? [];
  const words = path.split('/').filter((word) => !/^(?::.*|v\d+|admin)$/.test(word));
  const verb = verbs[method];
  return deeds[route] ?? (verb === undefined ? action : `${verb} ${words.join(', ').replaceAll(/[-_]/g, ' ')}`);
}

/** A server that calls with the internal key alone gives no name. */
export const actorOf = (actor: string, article = 'An'): string =>
  actor === 'unnamed' ? `${article} unnamed server` : actor;

/** The log has the status of a request, or the word of a command. */
export const outcomeOf = (outcome: string): string =>
  /^2\d\d$/.test(outcome) ? 'done' : /^\d+$/.test(outcome) ? `failed with status ${outcome}` : outcome;

/** Such as `1,000 to 1,500 credits, Pro to Max`. */
export function differenceOf({ planBefore, planAfter, creditsBefore, creditsAfter }: CreditChange): string {
  const parts = [
    creditsAfter === creditsBefore ? '' : `${countOf(creditsBefore)} to ${countOf(creditsAfter)} credits`,
    planAfter === planBefore ? '' : `${planName(planBefore)} to ${planName(planAfter)}`,
  ];
  return parts.filter((text) => text !== '').join(', ');
}
