/** Who is signed in, and what goes with it: theme, shortcuts, the way to the other area, and out. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ChevronsUpDown, Keyboard, LogOut, Settings2, SquareUserRound, Wrench } from 'lucide-react';
import { useLocation } from 'wouter';
import type { ConsoleInfo } from '../../api.ts';
import { send } from '../calls.ts';
import { useConsole } from '../operator.tsx';
import { useSignOut, useUser } from '../user.tsx';
import { Menu, MenuItem, MenuLine } from './menu.tsx';
import { notifyFailure } from './notices.ts';
import { openShortcuts } from './overlays.tsx';
import { ThemeChoice } from './themechoice.tsx';

const icon = { size: 16, strokeWidth: 1.75, 'aria-hidden': true } as const;

export function UserAccount() {
  const user = useUser();
  const [, navigate] = useLocation();
  const signOut = useSignOut();
  return (
    <Menu
      trigger={
        <button type="button" className="account">
          <span className="initial" aria-hidden="true">
            {user.email.slice(0, 1).toUpperCase()}
          </span>
          <span className="cut">
            <span className="unseen">Account </span>
            {user.email}
          </span>
          <ChevronsUpDown {...icon} />
        </button>
      }
    >
      <ThemeChoice />
      <MenuLine />
      <MenuItem Icon={Keyboard} onSelect={openShortcuts}>
        Keyboard shortcuts
      </MenuItem>
      <MenuItem Icon={Wrench} onSelect={() => navigate('/operator')}>
        Operators
      </MenuItem>
      <MenuItem Icon={LogOut} onSelect={() => signOut.mutate()}>
        Sign out
      </MenuItem>
    </Menu>
  );
}

/** The holder of the token has no name. */
function operatorLabel(info: ConsoleInfo | undefined): string {
  if (!info?.operator) return 'Options';
  const { name, role } = info.operator;
  if (name === 'console') return 'Operator';
  return role === 'reader' ? `Operator ${name}, read-only` : `Operator ${name}`;
}

export function OperatorAccount() {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const { data } = useConsole();
  const closing = useMutation({
    mutationFn: async () => {
      await send('/api/session', { method: 'DELETE' });
      await queries.invalidateQueries({ queryKey: ['console'] });
    },
    onError: notifyFailure,
  });
  return (
    <Menu
      trigger={
        <button type="button" className="account">
          <Settings2 {...icon} />
          <span className="cut">{operatorLabel(data)}</span>
          <ChevronsUpDown {...icon} />
        </button>
      }
    >
      <ThemeChoice />
      <MenuLine />
      <MenuItem Icon={Keyboard} onSelect={openShortcuts}>
        Keyboard shortcuts
      </MenuItem>
      <MenuItem Icon={SquareUserRound} onSelect={() => navigate('/')}>
        Users
      </MenuItem>
      {data?.isOperator && (
        <MenuItem Icon={LogOut} onSelect={() => closing.mutate()}>
          Close operator session
        </MenuItem>
      )}
      {data && <p className="quiet small menunote">Version {data.version}</p>}
    </Menu>
  );
}
