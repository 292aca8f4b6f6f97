/** Sent mails, previews of all types, suppressed addresses, and the outbox of an installation that sends no mail. */
import { Tabs } from 'radix-ui';
import { useSearchParams } from 'wouter';
import { useConsole } from '../operator.tsx';
import { Outbox } from './mailoutbox.tsx';
import { Previews } from './mailpreviews.tsx';
import { SentMails } from './mailsent.tsx';
import { Suppressions } from './mailsuppressions.tsx';
import './operator.css';

export function Mail() {
  const { data: info } = useConsole();
  const [search, setSearch] = useSearchParams();
  const tabs = [
    ...(info?.hasPeople ? ([['sent', 'Sent', SentMails]] as const) : []),
    ...(info?.hasOutbox ? ([['outbox', 'Outbox', Outbox]] as const) : []),
    ...(info?.hasPeople
      ? ([
          ['previews', 'Previews', Previews],
          ['suppressed', 'Suppressed', Suppressions],
        ] as const)
      : []),
  ];
  const chosen = tabs.find(([value]) => value === search.get('tab'))?.[0] ?? tabs[0]?.[0] ?? '';
  return (
    <div className="operator">
      <header className="page">
        <h1>Mail</h1>
      </header>
      <Tabs.Root value={chosen} onValueChange={(tab) => setSearch({ tab }, { replace: true })}>
        <Tabs.List className="tabs" aria-label="Views">
          {tabs.map(([value, label]) => (
            <Tabs.Trigger key={value} value={value}>
              {label}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        {tabs.map(([value, , View]) => (
          <Tabs.Content key={value} value={value}>
            <View />
          </Tabs.Content>
        ))}
      </Tabs.Root>
    </div>
  );
}
