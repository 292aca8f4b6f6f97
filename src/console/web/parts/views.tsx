import { Tabs } from 'radix-ui';
import type { ReactNode } from 'react';
import { useSearchParams } from 'wouter';

type View = readonly [value: string, label: string, View: () => ReactNode];

/** The views of a page. The URL has the chosen one, so Back returns to the one before. */
export function Views({ of: views }: { readonly of: readonly View[] }) {
  const [search, setSearch] = useSearchParams();
  const chosen = (views.find(([value]) => value === search.get('tab')) ?? views[0])?.[0];
  return (
    <Tabs.Root {...(chosen && { value: chosen })} onValueChange={(tab) => setSearch({ tab })}>
      <Tabs.List className="tabs" aria-label="Views">
        {views.map(([value, label]) => (
          <Tabs.Trigger key={value} value={value}>
            {label}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {views.map(([value, , Shown]) => (
        <Tabs.Content key={value} value={value}>
          <Shown />
        </Tabs.Content>
      ))}
    </Tabs.Root>
  );
}
