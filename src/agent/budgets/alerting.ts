/**
 * Notifies operators once when half, most and all of a budget is spent (docs/agent.md#budgets). Each process looks, apart from
 * the runs. The row of a share decides which one notifies, in the transaction that queues the emails and the webhook.
 */
import { randomUUID } from 'node:crypto';
import { mailQueueOf, sendMail } from '#accounts/mailing.ts';
import { findProfilesByEmail } from '#accounts/store.ts';
import { type Interval, startInterval } from '#platform/background/interval.ts';
import { type Tx, transaction } from '#platform/db/db.ts';
import type { HttpClient } from '#platform/http/client.ts';
import type { AgentContext } from '../context.ts';
import type { AgentTables } from '../tables.ts';
import { insertReached, type Reached } from './budgetstore.ts';

const percents = [50, 80, 100];
const lookEveryMs = 5000;
/** Spending just before the end of a period counts, even if no process looked then. */
const lookBackS = 3600;

export const budgetMailQueue = mailQueueOf('agent/budget-mail');

export interface BudgetAlerts {
  /** Of the notify service. */
  readonly notify: Pick<HttpClient, 'send'>;
  /** OPERATOR_EMAILS. */
  readonly operators: readonly string[];
  /** `undefined`: the button of the email opens NOTIFY_APP_URL. */
  readonly consoleUrl?: string | undefined;
}

export function startBudgetAlerts(context: AgentContext, alerts: BudgetAlerts): Interval {
  const { notify } = alerts;
  const { db, jobs, log, budgets } = context;
  jobs.work(budgetMailQueue, (job) => sendMail({ notify, log }, job), { concurrency: 1 });
  return startInterval(
    lookEveryMs,
    () =>
      transaction(db, async (tx) => {
        const all = await insertReached(tx, budgets, percents, lookBackS);
        for (const [at, reached] of all.entries()) {
          await context.webhooks?.publish(tx, 'budget.reached', reached);
          const next = all[at + 1];
          // One email about a jump over several shares: the highest one is the last of its period.
          if (next?.period !== reached.period || next.start !== reached.start)
            await notifyOperators(context, tx, alerts, reached);
        }
      }),
    (error) => log.warn({ err: error }, 'the budgets could not be compared with the costs'),
  );
}

async function notifyOperators(
  { jobs }: AgentContext,
  tx: Tx<AgentTables>,
  { operators, consoleUrl }: BudgetAlerts,
  reached: Reached,
): Promise<void> {
  const url = consoleUrl && new URL('/operator/models', consoleUrl).href;
  for (const email of operators) {
    const [profile] = await findProfilesByEmail(tx, email);
    const locale = profile?.language ?? undefined;
    const key = randomUUID();
    const [type, userId] = ['budget.reached', profile?.id ?? randomUUID()];
    const mail = { key, type, userId, contact: { email, locale }, data: { ...reached, url } };
    await jobs.enqueue(tx, budgetMailQueue, mail, { key });
  }
}
