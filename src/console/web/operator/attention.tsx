/** What an operator has to look at now, each with the page that shows it. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { EmailList } from '#client/notify/api.ts';
import type { IncidentCounts } from '#media/incidents/api.ts';
import type { Overview } from '../../api.ts';
import type { ErrorList, History } from '../../history/api.ts';
import { useConsole } from '../operator.tsx';
import { countOf, countUpTo, momentOf } from '../parts/figures.tsx';
import { useRead } from '../parts/reading.ts';
import { Status } from '../parts/states.tsx';
import { useBudgets } from './budgets.tsx';
import { workOf } from './names.tsx';
import { moneyOf } from './units.ts';

const recentMs = 10 * 60_000;
const lately = 'in the last 10 minutes';
const dayMs = 86_400_000;
/** The length of a page of emails. */
const mostMails = 50;

type Item = readonly [tone: 'bad' | 'warn' | 'busy', text: string, href: string, link: string];

export const useErrors = () => useRead<ErrorList>(['errors'], '/api/errors', { refetchInterval: 10_000 });

/** `undefined`: not read yet, or the pages of people are not available. */
export function useIncidentCounts(): IncidentCounts | undefined {
  const { data: info } = useConsole();
  return useRead<{ readonly counts: IncidentCounts }>(['incident counts'], '/api/incidents?status=open', {
    refetchInterval: 60_000,
    enabled: info?.hasPeople === true,
  }).data?.counts;
}

/** Emails with this status of the last day, the reason of the newest one first. */
function useMails(status: 'delayed' | 'failed'): Item | false {
  const { data: info } = useConsole();
  const { data } = useRead<EmailList>(['sent mails', 'lately', status], `/api/notify/emails?status=${status}`, {
    refetchInterval: 30_000,
    enabled: info?.hasPeople === true,
  });
  const since = status === 'failed' ? Date.now() - dayMs : 0;
  const mails = data?.data.filter(({ created_at }) => Date.parse(created_at) > since) ?? [];
  const count = countUpTo(mostMails, mails.length === mostMails && data?.has_more ? mostMails + 1 : mails.length);
  const what = `${count} ${mails.length === 1 ? 'email' : 'emails'}`;
  const reason = mails[0]?.reason == null ? '' : `: ${mails[0].reason}`;
  const href = `/operator/mail?tab=sent&status=${status}`;
  if (mails.length === 0) return false;
  return status === 'failed'
    ? ['bad', `${what} failed in the last day${reason}`, href, 'Send again']
    : ['warn', `${what} ${mails.length === 1 ? 'is' : 'are'} delayed${reason}`, href, 'Show emails'];
}

interface AttentionProps {
  readonly overview: Overview;
  readonly history: History | undefined;
  /** `overview` is the last known state. */
  readonly error: Error | null;
}

export function Attention({ overview, history, error }: AttentionProps) {
  const budgets = useBudgets().data?.budgets ?? [];
  const { open = 0, openAppeals = 0 } = useIncidentCounts() ?? {};
  const { services, queues, largestCount, webhooks } = overview;
  const mails = [useMails('failed'), useMails('delayed')];
  const unwell = services.filter(({ status }) => status !== 'ready');
  const { failing, failedRuns } = recentTrouble(overview, history);
  const appeals = openAppeals === 0 ? '' : `, ${countOf(openAppeals)} with an appeal`;
  // Webhooks have a page of their own.
  const others = queues.filter(({ queue, state, count }) => state === 'dead' && count > 0 && queue !== webhooks?.queue);
  const jobs = others.reduce((sum, { count }) => sum + count, 0);
  const numbered = (count: number, one: string, many: string) =>
    count === 1 ? `1 ${one}` : `${countUpTo(largestCount, count)} ${many}`;
  const runs = numbered(failedRuns, 'run', 'runs');
  const works = others.map(({ queue }) => workOf(queue)).join(', ');
  const firstDead = `/operator/jobs?queue=${encodeURIComponent(others[0]?.queue ?? '')}`;
  const all: readonly (Item | false)[] = [
    unwell.length > 0 && ['bad', sentenceOf(unwell, services.length), '#services', 'Show the services'],
    failing.length > 0 && ['bad', `${listOf(failing)} returned server errors ${lately}`, '#errors', 'Show the errors'],
    failedRuns > 0 && ['bad', `${runs} failed ${lately}`, '/operator/runs?status=failed', 'Show failed runs'],
    jobs > 0 && ['bad', `${numbered(jobs, 'job is', 'jobs are')} dead: ${works}`, firstDead, 'Retry or discard'],
    ...webhookItems(webhooks),
    ...mails,
    open > 0 && [
      'busy',
      `${numbered(open, 'incident waits', 'incidents wait')} for a decision${appeals}`,
      '/operator/incidents',
      'Decide',
    ],
    ...budgets.map(
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
  const isReady = unwell.length === 0;
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
              <span className="quiet">Nothing needs your attention.</span>
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

/** To another page, or to a part of this one. */
function Way({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  return href.startsWith('#') ? <a href={href}>{children}</a> : <Link href={href}>{children}</Link>;
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
const listOf = (names: readonly string[]) => list.format(names);

function sentenceOf(unwell: Overview['services'], all: number): string {
  const names = unwell.map(({ service }) => service).join(', ');
  if (unwell.length > 1) return `${unwell.length} of ${all} services are not ready: ${names}`;
  return `${names} is not ready${unwell[0]?.status === 'unreachable' ? ': no answer' : ''}`;
}

/** Services that returned server errors lately, and how many runs failed. */
function recentTrouble({ services, checkedAt }: Overview, history: History | undefined) {
  const since = Date.parse(checkedAt) - recentMs;
  const isRecent = (at: string | null | undefined) => at !== null && at !== undefined && Date.parse(at) >= since;
  const failing = services.filter((one) => one.failing.some(({ lastAt }) => isRecent(lastAt)));
  const stepM = (history?.stepS ?? 0) / 60;
  const failedRuns = (history?.runs.failedPerMinute ?? [])
    .filter((_value, step) => isRecent(history?.startsAt[step]))
    .reduce<number>((sum, value) => sum + (value ?? 0) * stepM, 0);
  return { failing: failing.map(({ service }) => service), failedRuns: Math.round(failedRuns) };
}
