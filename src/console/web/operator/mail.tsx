/** Sent mails, previews of all types, suppressed addresses, and the outbox of an installation that sends no mail. */
import { Tabs } from 'radix-ui';
import { useConsole } from '../operator.tsx';
import { Outbox } from './mailoutbox.tsx';
import { Previews } from './mailpreviews.tsx';
import { SentMails } from './mailsent.tsx';
import { Suppressions } from './mailsuppressions.tsx';
import './operator.css';

export function Mail() {
  const { data: info } = useConsole();
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
  return (
    <div className="operator">
      <header className="page">
        <h1>Mail</h1>
      </header>
      <Tabs.Root defaultValue={tabs[0]?.[0]}>
        <Tabs.List className="tabs" aria-label="What to show">
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
