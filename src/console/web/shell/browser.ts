/** State of the browser that the shell follows: the width of the window, the connection, the color theme. */
import { useSyncExternalStore } from 'react';
import { createShared } from './shared.ts';

const narrow = matchMedia('(max-width: 899px)');

/** Below 900 px, the navigation is a drawer. */
export const useIsNarrow = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      narrow.addEventListener('change', listener);
      return () => narrow.removeEventListener('change', listener);
    },
    () => narrow.matches,
  );

export const useIsOnline = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      window.addEventListener('online', listener);
      window.addEventListener('offline', listener);
      return () => {
        window.removeEventListener('online', listener);
        window.removeEventListener('offline', listener);
      };
    },
    () => navigator.onLine,
  );

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const themeKey = 'atelier.theme';

const shownTheme = createShared<Theme>('system');

function readTheme(): Theme {
  const stored = localStorage.getItem(themeKey);
  return themes.find((theme) => theme === stored) ?? 'system';
}

function showTheme(): void {
  const theme = readTheme();
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  shownTheme.write(theme);
}

/** Call once, before the first page is shown. Other tabs follow a change. */
export function followTheme(): void {
  showTheme();
  window.addEventListener('storage', ({ key }) => {
    if (key === themeKey) showTheme();
  });
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(themeKey, theme);
  showTheme();
}

export const useTheme = shownTheme.use;
