import { Tabs } from 'radix-ui';
import '../operator/runs.css';
import { Memories } from '../memory/memories.tsx';
import { Profiles } from '../memory/profiles.tsx';

export function Memory() {
  return (
    <>
      <header className="page">
        <h1>Memory</h1>
        <p className="quiet">
          Facts about users and groups. The history of a memory shows every change, and you can undo it.
        </p>
      </header>
      <Tabs.Root defaultValue="memories">
        <Tabs.List className="tabs" aria-label="Views">
          <Tabs.Trigger value="memories">Memories</Tabs.Trigger>
          <Tabs.Trigger value="profiles">Profiles</Tabs.Trigger>
        </Tabs.List>
        <Tabs.Content value="memories">
          <Memories />
        </Tabs.Content>
        <Tabs.Content value="profiles">
          <Profiles />
        </Tabs.Content>
      </Tabs.Root>
    </>
  );
}
