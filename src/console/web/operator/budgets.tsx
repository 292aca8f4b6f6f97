/** The budgets of the day and the month, and what is spent of them. */
import type { BudgetList } from '#agent/budgets/api.ts';
import { useConsole } from '../operator.tsx';
import { useRead } from '../parts/reading.ts';
import { Failure, Status } from '../parts/states.tsx';
import { useCosts } from './names.tsx';
import { dayNameOf, moneyOf } from './units.ts';

const names = { day: 'Today', month: 'This month' } as const;

const month = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' });
const monthOf = (start: string) => month.format(new Date(start));

export function useBudgets() {
  const { data: console } = useConsole();
  return useRead<BudgetList>(['budgets'], '/api/usage/budgets', {
    refetchInterval: 60_000,
    enabled: console?.hasPeople === true,
  });
}

export function Budgets() {
  const { data, error, refetch } = useBudgets();
  const costOf = useCosts();
  if (data === undefined) return error && <Failure error={error} retry={refetch} />;
  if (data.budgets.length === 0) return null;
  return (
    <section aria-labelledby="budgets">
      <h2 id="budgets">Budgets</h2>
      <ul className="cards">
        {data.budgets.map(({ period, start, budgetUsd, spentUsd, percent }) => (
          <li key={period} className="card">
            <div className="row">
              <h3>
                {names[period]}{' '}
                <span className="quiet">{period === 'day' ? dayNameOf(start) : monthOf(start)}, UTC</span>
              </h3>
              <Status tone={percent >= 100 ? 'bad' : 'good'}>{percent}%</Status>
            </div>
            <progress
              className={percent >= 100 ? 'spent' : undefined}
              aria-label={`Spent of the budget: ${names[period]}`}
              max={budgetUsd}
              value={Math.min(budgetUsd, spentUsd)}
            />
            <p className="quiet">
              {costOf(spentUsd)} of {moneyOf(budgetUsd)}
            </p>
          </li>
        ))}
      </ul>
      <p className="quiet">At 50, 80 and 100%, operators get an email. A budget does not limit spending.</p>
    </section>
  );
}
