/** The command palette and the overview of shortcuts, over any page. */
import { Command, Keyboard, Monitor, Moon, Sun } from 'lucide-react';
import { lazy, Suspense, useEffect } from 'react';
import { type Action, performShortcut, useActions } from './actions.ts';
import { setTheme } from './browser.ts';
import { Palette } from './palette.tsx';
import { createShared } from './shared.ts';

const Shortcuts = lazy(async () => ({ default: (await import('./shortcuts.tsx')).Shortcuts }));

const opened = createShared<'palette' | 'shortcuts' | undefined>(undefined);
export const openPalette = (): void => opened.write('palette');
export const openShortcuts = (): void => opened.write('shortcuts');
const close = () => opened.write(undefined);

const general: readonly Action[] = [
  {
    id: 'palette',
    title: 'Search commands',
    group: 'Help',
    Icon: Command,
    keys: 'mod+k',
    isHidden: true,
    perform: openPalette,
  },
  { id: 'shortcuts', title: 'Keyboard shortcuts', group: 'Help', Icon: Keyboard, keys: '?', perform: openShortcuts },
  { id: 'system', title: 'Use the system’s theme', group: 'Theme', Icon: Monitor, perform: () => setTheme('system') },
  { id: 'light', title: 'Use the light theme', group: 'Theme', Icon: Sun, perform: () => setTheme('light') },
  { id: 'dark', title: 'Use the dark theme', group: 'Theme', Icon: Moon, perform: () => setTheme('dark') },
];

export function Overlays() {
  const shown = opened.use();
  useActions(general);
  useEffect(() => {
    window.addEventListener('keydown', performShortcut);
    return () => window.removeEventListener('keydown', performShortcut);
  }, []);
  return (
    <Suspense>
      {shown === 'palette' && <Palette onClose={close} />}
      {shown === 'shortcuts' && <Shortcuts onClose={close} />}
    </Suspense>
  );
}
