/** The budgets of the day and the month, what is spent of them, and how operators set them. */
import { useState } from 'react';
import type { BudgetList } from '#agent/budgets/api.ts';
import { send } from '../calls.ts';
import { useConsole, useMayChange } from '../operator.tsx';
import { TextField } from '../parts/fields.tsx';
import { When } from '../parts/figures.tsx';
import { SaveForm } from '../parts/saveform.tsx';
import { useDeed, useRead } from '../parts/server.ts';
import { Failure, Section, Status } from '../parts/states.tsx';
import { SettingLink, useCosts } from './names.tsx';
import { dayNameOf, moneyOf, monthNameOf } from './units.ts';

const periods = [
  ['day', 'Today', dayNameOf, 'AGENT_BUDGET_DAILY_USD'],
  ['month', 'This month', monthNameOf, 'AGENT_BUDGET_MONTHLY_USD'],
] as const;
type Period = (typeof periods)[number][0];
const toneOf = (percent: number) => (percent >= 100 ? 'bad' : percent >= 80 ? 'warn' : percent > 0 ? 'good' : 'quiet');

export function useBudgets() {
  const { data: console } = useConsole();
  const enabled = console?.hasPeople === true;
  return useRead<BudgetList>('/api/usage/budgets', {}, { refetchInterval: 60_000, enabled });
}

/** What an operator decided in place of a setting with this value. `undefined`: the setting applies. */
export function useReplacements(): (setting: string, value: string | null) => string | undefined {
  const { data } = useBudgets();
  return (setting, value) => {
    const [period] = periods.find((one) => one[3] === setting) ?? [];
    const budget = data?.budgets.find((one) => one.period === period);
    if (budget?.changedAt) return `set in the desk: ${moneyOf(budget.budgetUsd)}`;
    return period && data && value !== null && budget === undefined ? 'removed in the desk' : undefined;
  };
}

export function Budgets() {
  const { data, error, refetch } = useBudgets();
  const costOf = useCosts();
  const mayChange = useMayChange();
  const [edited, setEdited] = useState<Period>();
  if (data === undefined) return error && <Failure error={error} retry={refetch} />;
  const budgetOf = (period?: Period) => data.budgets.find((one) => one.period === period);
  return (
    <Section title="Budgets">
      <p className="desk-budgets quiet">
        A budget warns and does not limit: at 50, 80 and 100%, the operators of <SettingLink name="OPERATOR_EMAILS" />{' '}
        get an email. From 80%, the Overview shows an alert. Above 100%, runs and orders continue.
      </p>
      <ul className="cards">
        {periods.map(([period, name, nameOf, setting]) => {
          const budget = budgetOf(period);
          const { percent = 0, budgetUsd = 0, spentUsd = 0 } = budget ?? {};
          return (
            <li key={period} className="card">
              <div className="row">
                <h3>
                  {name} <span className="quiet">{nameOf(budget?.start ?? new Date().toISOString())}, UTC</span>
                </h3>
                {budget && <Status tone={toneOf(percent)}>{percent}%</Status>}
              </div>
              {budget && (
                <progress
                  className={toneOf(percent)}
                  aria-label={`Spent of the budget: ${name}`}
                  max={budgetUsd}
                  value={Math.min(budgetUsd, spentUsd)}
                />
              )}
              <div className="row">
                <p className="quiet">
                  {budget === undefined ? 'No budget.' : costOf(spentUsd)}
                  {budget && ` of ${moneyOf(budgetUsd)} · `}
                  {budget?.changedAt && 'set '}
                  {budget?.changedAt && <When at={budget.changedAt} />}
                  {budget?.changedAt === null && <SettingLink name={setting} />}
                </p>
                {mayChange && (
                  <button
                    type="button"
                    aria-label={budget ? `Change the budget of the ${period}` : `Set a budget of the ${period}`}
                    onClick={() => setEdited(period)}
                  >
                    {budget ? 'Change' : 'Set a budget'}
                  </button>
                )}
              </div>
            </li>
          );
        })}
      </ul>
      {edited && (
        <Editor period={edited} budgetUsd={budgetOf(edited)?.budgetUsd} onClose={() => setEdited(undefined)} />
      )}
    </Section>
  );
}

type EditorProps = { readonly period: Period; readonly budgetUsd: number | undefined; readonly onClose: () => void };

function Editor({ period, budgetUsd, onClose }: EditorProps) {
  const [typed, setTyped] = useState(String(budgetUsd ?? ''));
  const change = (usd: number | null = Number(typed)) =>
    send(`/api/usage/budgets/${period}`, { method: 'PUT', json: { budgetUsd: usd } });
  const saving = useDeed(change, ['usage', 'budgets']);
  const remove = () => saving.mutate(null, { onSuccess: onClose });
  return (
    <SaveForm
      title={`Budget of ${period === 'day' ? 'each day' : 'each month'}`}
      of={saving}
      submit="Save"
      more={
        budgetUsd !== undefined && (
          <button type="button" className="danger" disabled={saving.isPending} onClick={remove}>
            Remove
          </button>
        )
      }
      onClose={onClose}
    >
      <TextField
        label="US dollars"
        type="number"
        min="0.01"
        max="999999999"
        step="0.01"
        required
        value={typed}
        onChange={setTyped}
      />
      <p className="quiet">It replaces the setting, at once and for all processes. The audit log records the change.</p>
    </SaveForm>
  );
}
