/** Jumps to a month of the library. */
import { useQuery } from '@tanstack/react-query';
import { ChevronDown, History } from 'lucide-react';
import type { AssetMonths } from '../../../client/media/api.ts';
import { Menu, MenuItem } from '../shell/menu.tsx';
import { useUser } from '../user.tsx';

const nameOf = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric' });
const dateOf = (month: string) => new Date(`${month}-01T00:00`);

/** `YYYY-MM-DD`. */
export function lastDayOf(month: string): string {
  const first = dateOf(month);
  const days = new Date(first.getFullYear(), first.getMonth() + 1, 0).getDate();
  return `${month}-${days}`;
}

export function Months({ onChoose }: { readonly onChoose: (month: string) => void }) {
  const user = useUser();
  const { data } = useQuery({
    queryKey: ['months', user.id],
    queryFn: ({ signal }) =>
      user.json<AssetMonths>('media', `/v1/assets/months?utcOffset=${-new Date().getTimezoneOffset()}`, { signal }),
  });
  const months = data?.months ?? [];
  if (months.length < 2) return null;
  return (
    <Menu
      align="end"
      trigger={
        <button type="button" className="toggle">
          <History size={16} strokeWidth={1.75} aria-hidden="true" />
          Jump to
          <ChevronDown size={16} strokeWidth={1.75} aria-hidden="true" />
        </button>
      }
    >
      {months.map(({ month, count }) => (
        <MenuItem key={month} Icon={History} onSelect={() => onChoose(month)}>
          <span className="choice">
            {nameOf.format(dateOf(month))}
            <span className="quiet small">{count === 1 ? '1 item' : `${count} items`}</span>
          </span>
        </MenuItem>
      ))}
    </Menu>
  );
}
