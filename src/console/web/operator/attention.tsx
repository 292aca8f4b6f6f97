/** What an operator has to look at now, each with the page that shows it. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { GenerationRecordPage } from '#agent/records/api.ts';
import type { EmailList } from '#client/notify/api.ts';
import type { Overview } from '../../api.ts';
import type { ErrorList, History } from '../../history/api.ts';
import type { ShownRunPage } from '../../runs/api.ts';
import { useConsole } from '../operator.tsx';
import { countOf, countUpTo, momentOf } from '../parts/figures.tsx';
import { useRead } from '../parts/reading.ts';
import { Status } from '../parts/states.tsx';
import { useBudgets } from './budgets.tsx';
import type { Listed } from './incidents.tsx';
import { isUrgent } from './incidentstates.ts';
import { workOf } from './names.tsx';
import { clockOf, moneyOf } from './units.ts';

const recentMs = 10 * 60_000;
const dayMs = 86_400_000;
export const mostRuns = 100;
/** The length of a page of emails. */
const mostMails = 50;

type Item = readonly [tone: 'bad' | 'warn' | 'busy', text: string, href: string, link: string];

/** All that the Overview shows. */
export function useDesk() {
  const { data: info } = useConsole();
  const enabled = info?.hasPeople === true;
  // What failed right before midnight, in UTC, still needs attention after it.
  const today = new Date(Date.now() - recentMs).toISOString().slice(0, 10);
  const failed = `status=failed&from=${today}&limit=100`;
  const often = { refetchInterval: 15_000, enabled };
  const parts = {
    overview: useRead<Overview>(['overview'], '/api/overview', { refetchInterval: 5000 }),
    history: useRead<History>(['history'], '/api/history', { refetchInterval: 15_000 }),
    errors: useRead<ErrorList>(['errors'], '/api/errors', { refetchInterval: 10_000 }),
    runs: useRead<ShownRunPage>(['runs', failed], `/api/runs?${failed}`, often),
    // As the page Runs has them, also after a restart of the console.
    newest: useRead<ShownRunPage>(['runs', 'newest'], `/api/runs?limit=${mostRuns}`, often),
    orders: useRead<GenerationRecordPage>(['orders', failed], `/api/generations?${failed}`, often),
    failedMails: useRead<EmailList>(['sent mails', 'failed lately'], '/api/notify/emails?status=failed', often),
    delayedMails: useRead<EmailList>(['sent mails', 'delayed lately'], '/api/notify/emails?status=delayed', often),
    incidents: useRead<Listed>(['incident counts'], '/api/incidents?status=open&order=priority&limit=200', often),
    budgets: useBudgets(),
  };
  // A service that does not respond must not hold the page back.
  const isRead = Object.values(parts).every(
    (part) => !part.isPending || !part.isFetching || part.failureCount + part.errorUpdateCount > 0,
  );
  return { ...parts, isRead, today, hasPeople: enabled };
}
export type Desk = ReturnType<typeof useDesk>;

export const since = (at: string | null, ms: number) => at !== null && Date.parse(at) > Date.now() - ms;

/** Emails with this status of the last day, and the reason if it is that of all. */
function mailItem(status: 'delayed' | 'failed', data: EmailList | undefined): Item | false {
  const mails = (data?.data ?? []).filter((mail) => status === 'delayed' || since(mail.created_at, dayMs));
  const count = countUpTo(mostMails, mails.length === mostMails && data?.has_more ? mostMails + 1 : mails.length);
  const what = `${count} ${mails.length === 1 ? 'email' : 'emails'}`;
  const reasons = new Set(mails.map((mail) => mail.reason ?? ''));
  const reason = reasons.size > 1 || reasons.has('') ? '' : `: ${[...reasons][0]}`;
  const href = `/operator/mail?tab=sent&status=${status}`;
  if (mails.length === 0) return false;
  return status === 'failed'
    ? ['bad', `${what} failed in the last day${reason}`, href, 'Show emails']
    : ['warn', `${what} ${mails.length === 1 ? 'is' : 'are'} delayed${reason}`, href, 'Show emails'];
}

/** If the overview cannot be read, the last known state. */
export function Attention({ desk }: { readonly desk: Desk }) {
  const { error, data: overview } = desk.overview;
  const { open = 0, openAppeals = 0 } = desk.incidents.data?.counts ?? {};
  const { services = [], queues = [], largestCount = 0, webhooks = null } = overview ?? {};
  const unwell = services.filter(({ status }) => status !== 'ready');
  const urgent = desk.incidents.data?.incidents.filter(isUrgent).length ?? 0;
  const appeals = openAppeals === 0 ? '' : `, ${countOf(openAppeals)} with an appeal`;
  // Webhooks have a page of their own.
  const others = (queues ?? []).filter(({ queue, dead }) => dead > 0 && queue !== webhooks?.queue);
  const jobs = others.reduce((sum, { dead }) => sum + dead, 0);
  const numbered = (count: number, one: string, many: string) =>
    count === 1 ? `1 ${one}` : `${countUpTo(largestCount, count)} ${many}`;
  const works = others.map(({ queue }) => workOf(queue)).join(', ');
  const firstDead = `/operator/jobs?queue=${encodeURIComponent(others[0]?.queue ?? '')}`;
  const errors = (desk.errors.data?.errors ?? []).filter(({ at }) => since(at, recentMs));
  const failing = list.format([...new Set(errors.map(({ service }) => service))]);
  const runs = (desk.runs.data?.runs ?? []).filter(({ endedAt }) => since(endedAt, recentMs));
  const all: readonly (Item | false)[] = [
    urgent > 0 && [
      'bad',
      `${numbered(urgent, 'urgent incident waits', 'urgent incidents wait')} for a decision`,
      '/operator/incidents',
      'Decide',
    ],
    unwell.length > 0 && ['bad', sentenceOf(unwell, services.length), '#services', 'Show the services'],
    errors.length > 0 && [
      'bad',
      `${numbered(errors.length, 'server error', 'server errors')} of ${failing} since ${clockOf(errors.at(-1)?.at)}`,
      '#errors',
      'Show the errors',
    ],
    runs.length > 0 && [
      'bad',
      `${numbered(runs.length, 'run', 'runs')} failed since ${clockOf(runs.at(-1)?.endedAt)}`,
      '/operator/runs?status=failed',
      'Show failed runs',
    ],
    jobs > 0 && ['bad', `${numbered(jobs, 'job is', 'jobs are')} dead: ${works}`, firstDead, 'Retry or discard'],
    ...webhookItems(webhooks),
    mailItem('failed', desk.failedMails.data),
    mailItem('delayed', desk.delayedMails.data),
    open > urgent && [
      'busy',
      `${numbered(open - urgent, 'incident waits', 'incidents wait')} for a decision${appeals}`,
      '/operator/incidents',
      'Decide',
    ],
    ...(desk.budgets.data?.budgets ?? []).map(
      ({ period, percent, spentUsd, budgetUsd }): Item | false =>
        percent >= 80 && [
          percent >= 100 ? 'bad' : 'busy',
          `${percent >= 100 ? 'The' : `${percent}% of the`} budget of the ${period} is spent: ${moneyOf(spentUsd)} of ${moneyOf(budgetUsd)}`,
          '/operator/models',
          'Show costs',
        ],
    ),
  ];
  const items = all.filter((one) => one !== false);
  const isReady = overview !== undefined && unwell.length === 0;
  return (
    <section className="card attention" aria-label="State">
      <p role="status" className="attention-state">
        {error ? (
          <Status tone="bad">{error.message} This is the last known state.</Status>
        ) : (
          <>
            {isReady && <Status tone="good">All {services.length} services are ready</Status>}
            {items.length > 0 ? (
              <span className="strong">
                {items.length === 1 ? '1 thing needs your attention' : `${items.length} things need your attention`}
              </span>
            ) : (
              <span className="quiet">
                {desk.isRead ? 'Nothing needs your attention.' : 'Reading the state of every service …'}
              </span>
            )}
          </>
        )}
      </p>
      {items.length > 0 && (
        <ul className="lines" aria-label="Needs attention">
          {items.map(([tone, text, href, link]) => (
            <li key={text} className="row">
              <Status tone={tone}>{text}</Status>
              <Way href={href}>{link}</Way>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

interface WayProps {
  readonly href: string;
  readonly label?: string;
  readonly children: ReactNode;
}

/** To another page, or to a part of this one. */
export function Way({ href, label, children }: WayProps) {
  const To = href.startsWith('#') ? 'a' : Link;
  return (
    <To href={href} aria-label={label}>
      {children}
    </To>
  );
}

function webhookItems(of: Overview['webhooks']): readonly (Item | false)[] {
  if (of === null) return [];
  const { receiver, largestCount, failing, dead, failingSince, reason } = of;
  const host = `to ${new URL(receiver).host}`;
  const numbered = (count: number) =>
    `${countUpTo(largestCount, count)} ${count === 1 ? 'webhook' : 'webhooks'} ${host}`;
  const why = reason === null ? '' : `: ${reason}`;
  const since = failingSince === null ? '' : `, since ${momentOf(failingSince)}`;
  return [
    failing > 0 && [
      'bad',
      `${numbered(failing)} ${failing === 1 ? 'is' : 'are'} failing${since}${why}`,
      '/operator/webhooks?status=failing',
      'Show webhooks',
    ],
    dead > 0 && [
      'bad',
      `${numbered(dead)} ${dead === 1 ? 'is' : 'are'} dead`,
      '/operator/webhooks?status=dead',
      'Send again',
    ],
  ];
}

const list = new Intl.ListFormat('en-US', { type: 'conjunction' });

function sentenceOf(unwell: Overview['services'], all: number): string {
  const names = unwell.map(({ service }) => service).join(', ');
  if (unwell.length > 1) return `${unwell.length} of ${all} services are not ready: ${names}`;
  return `${names} is not ready${unwell[0]?.status === 'unreachable' ? ': no answer' : ''}`;
}
