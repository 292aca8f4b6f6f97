/** What an operator has to look at now, each with the page that shows it. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { IncidentCounts } from '#media/incidents/api.ts';
import type { Overview } from '../../api.ts';
import type { ErrorList, History } from '../../history/api.ts';
import { useConsole } from '../operator.tsx';
import { countOf, countUpTo } from '../parts/figures.tsx';
import { useRead } from '../parts/reading.ts';
import { Status } from '../parts/states.tsx';
import { useBudgets } from './budgets.tsx';
import { workOf } from './queuenames.ts';
import { moneyOf } from './units.ts';

const recentMs = 10 * 60_000;
const deliveries = 'webhooks/deliver';

interface Item {
  readonly key: string;
  readonly tone: 'bad' | 'busy';
  readonly text: string;
  readonly href: string;
  readonly link: string;
}

export const useErrors = () => useRead<ErrorList>(['errors'], '/api/errors', { refetchInterval: 10_000 });

/** `null`: the pages of people are not available. */
export function useIncidentCounts(): IncidentCounts | undefined {
  const { data: info } = useConsole();
  return useRead<{ readonly counts: IncidentCounts }>(['incident counts'], '/api/incidents?status=open', {
    refetchInterval: 60_000,
    enabled: info?.hasPeople === true,
  }).data?.counts;
}

export function Attention({
  overview,
  history,
  error,
}: {
  readonly overview: Overview;
  readonly history: History | undefined;
  /** `overview` is the last known state. */
  readonly error: Error | null;
}) {
  const budgets = useBudgets().data?.budgets ?? [];
  const incidents = useIncidentCounts();
  const { services, queues, largestCount } = overview;
  const unwell = services.filter(({ status }) => status !== 'ready').map(({ service }) => service);
  const { failing, failedRuns } = recentTrouble(overview, history);
  const items: Item[] = [
    ...(unwell.length === 0
      ? []
      : [item('services', 'bad', sentenceOf(unwell, services), '#services', 'Show the services')]),
    ...(failing.length === 0
      ? []
      : [
          item(
            'errors',
            'bad',
            `${listOf(failing)} returned server errors in the last 10 minutes`,
            '#errors',
            'Show the errors',
          ),
        ]),
    ...(failedRuns === 0
      ? []
      : [
          item(
            'runs',
            'bad',
            failedRuns === 1
              ? '1 run failed in the last 10 minutes'
              : `${countOf(failedRuns)} runs failed in the last 10 minutes`,
            '/operator/runs?status=failed',
            'Show failed runs',
          ),
        ]),
    ...deadOf(queues, largestCount),
    ...(incidents === undefined || incidents.open === 0
      ? []
      : [
          item(
            'incidents',
            'busy',
            `${incidents.open === 1 ? '1 incident waits' : `${countOf(incidents.open)} incidents wait`} for a decision${
              incidents.openAppeals === 0 ? '' : `, ${countOf(incidents.openAppeals)} with an appeal`
            }`,
            '/operator/incidents',
            'Decide',
          ),
        ]),
    ...budgets
      .filter(({ percent }) => percent >= 80)
      .map(({ period, percent, spentUsd, budgetUsd }) =>
        item(
          `budget ${period}`,
          percent >= 100 ? 'bad' : 'busy',
          `${percent >= 100 ? `The budget of the ${period} is spent` : `${percent}% of the budget of the ${period} is spent`}: ${moneyOf(spentUsd)} of ${moneyOf(budgetUsd)}`,
          '/operator/models',
          'Show costs',
        ),
      ),
  ];
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
          {items.map(({ key, tone, text, href, link }) => (
            <li key={key} className="row">
              <Status tone={tone}>{text}</Status>
              <Way href={href}>{link}</Way>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Dead webhooks have a page of their own. */
function deadOf(queues: Overview['queues'], largestCount: number): readonly Item[] {
  const dead = queues.filter(({ state, count }) => state === 'dead' && count > 0);
  const webhooks = dead.find(({ queue }) => queue === deliveries)?.count ?? 0;
  const others = dead.filter(({ queue }) => queue !== deliveries);
  const jobs = others.reduce((sum, { count }) => sum + count, 0);
  const [first] = others;
  const say = (count: number, one: string, many: string) =>
    count === 1 ? `1 ${one} is dead` : `${countUpTo(largestCount, count)} ${many} are dead`;
  return [
    ...(first === undefined
      ? []
      : [
          item(
            'jobs',
            'bad',
            `${say(jobs, 'job', 'jobs')}: ${others.map(({ queue }) => workOf(queue)).join(', ')}`,
            `/operator/jobs?queue=${encodeURIComponent(first.queue)}`,
            'Retry or discard',
          ),
        ]),
    ...(webhooks === 0
      ? []
      : [
          item('webhooks', 'bad', say(webhooks, 'webhook', 'webhooks'), '/operator/webhooks?status=dead', 'Send again'),
        ]),
  ];
}

const item = (key: string, tone: Item['tone'], text: string, href: string, link: string): Item => ({
  key,
  tone,
  text,
  href,
  link,
});

/** To another page, or to a part of this one. */
function Way({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  return href.startsWith('#') ? <a href={href}>{children}</a> : <Link href={href}>{children}</Link>;
}

const list = new Intl.ListFormat('en-US', { type: 'conjunction' });
const listOf = (names: readonly string[]) => list.format(names);

function sentenceOf(unwell: readonly string[], services: Overview['services']): string {
  const [first] = services.filter(({ status }) => status !== 'ready');
  if (unwell.length > 1) return `${unwell.length} of ${services.length} services are not ready: ${unwell.join(', ')}`;
  return `${first?.service} is not ready${first?.status === 'unreachable' ? ': no answer' : ''}`;
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
