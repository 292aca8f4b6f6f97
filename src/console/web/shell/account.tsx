/** Who is signed in, and what goes with it: theme, shortcuts, the way to the other area, and out. */
import { ChevronsUpDown, Keyboard, LogOut, type LucideIcon, Settings2, SquareUserRound, Wrench } from 'lucide-react';
import type { ReactNode } from 'react';
import { navigate } from 'wouter/use-browser-location';
import type { ConsoleInfo } from '../../api.ts';
import { send } from '../calls.ts';
import { useConsole } from '../operator.tsx';
import { icon } from '../parts/iconbutton.tsx';
import { useDeed } from '../parts/server.ts';
import { useSignOut, useUser } from '../user.tsx';
import { useActions } from './actions.ts';
import { setTheme, themes, useTheme } from './browser.ts';
import { Menu, MenuChoice, MenuItem, MenuLine } from './menu.tsx';
import { notifyFailure } from './notices.ts';
import { openShortcuts } from './overlays.tsx';

interface AccountMenuProps {
  readonly face: ReactNode;
  readonly name: ReactNode;
  /** The way to the other area. */
  readonly other: { readonly Icon: LucideIcon; readonly path: string; readonly title: string };
  readonly children: ReactNode;
}

/** The menu of both areas. `children`: entries at its end. */
function AccountMenu({ face, name, other: { Icon, path, title }, children }: AccountMenuProps) {
  return (
    <Menu
      trigger={
        <button type="button" className="account">
          {face}
          <span className="cut">{name}</span>
          <ChevronsUpDown {...icon} />
        </button>
      }
    >
      <MenuChoice label="Theme" value={useTheme()} choices={themes} onChange={setTheme} />
      <MenuLine />
      <MenuItem Icon={Keyboard} onSelect={openShortcuts}>
        Keyboard shortcuts
      </MenuItem>
      <MenuItem Icon={Icon} onSelect={() => navigate(path)}>
        {title}
      </MenuItem>
      {children}
    </Menu>
  );
}

export function UserAccount() {
  const { email } = useUser();
  const signOut = useSignOut();
  return (
    <AccountMenu
      face={
        <span className="initial" aria-hidden="true">
          {email.slice(0, 1).toUpperCase()}
        </span>
      }
      name={
        <>
          <span className="unseen">Account </span>
          {email}
        </>
      }
      other={{ Icon: Wrench, path: '/operator', title: 'Operators' }}
    >
      <MenuItem Icon={LogOut} onSelect={() => signOut.mutate()}>
        Sign out
      </MenuItem>
    </AccountMenu>
  );
}

/** The holder of the token has no name. */
function operatorLabel(info: ConsoleInfo | undefined): string {
  if (!info?.operator) return 'Options';
  const { name, role } = info.operator;
  if (name === 'console') return 'Operator';
  return role === 'reader' ? `Read only: ${name}` : `Operator ${name}`;
}

const closeTitle = 'Close operator session';

export function OperatorAccount() {
  const { data } = useConsole();
  const closing = useDeed(() => send('/api/session', { method: 'DELETE' }), ['console']);
  const perform = () => closing.mutate(undefined, { onError: notifyFailure });
  const close = { id: 'close', title: closeTitle, group: 'Account', Icon: LogOut, perform };
  useActions(data?.isOperator === true ? [close] : []);
  return (
    <AccountMenu
      face={<Settings2 {...icon} />}
      name={operatorLabel(data)}
      other={{ Icon: SquareUserRound, path: '/', title: 'Users' }}
    >
      {data?.isOperator && (
        <MenuItem Icon={LogOut} onSelect={perform}>
          {closeTitle}
        </MenuItem>
      )}
      {data && <p className="quiet small menunote">Version {data.version}</p>}
    </AccountMenu>
  );
}
