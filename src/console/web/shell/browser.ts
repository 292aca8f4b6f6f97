/** State of the browser that the shell follows: the width of the window, the connection, the color theme. */
import { Monitor, Moon, Sun } from 'lucide-react';
import { type KeyboardEvent, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { createShared } from './shared.ts';

const narrow = matchMedia('(max-width: 899px)');

const follow = (target: EventTarget, types: readonly string[]) => (listener: () => void) => {
  for (const type of types) target.addEventListener(type, listener);
  return () => {
    for (const type of types) target.removeEventListener(type, listener);
  };
};
const followNarrow = follow(narrow, ['change']);
const followOnline = follow(window, ['online', 'offline']);

/** Below 900 px, the navigation is a drawer. */
export const useIsNarrow = (): boolean => useSyncExternalStore(followNarrow, () => narrow.matches);

/** On a touch screen, a field that has the focus opens a keyboard over the page. */
export const isTouch = (): boolean => matchMedia('(pointer: coarse)').matches;

/** Takes files that are dropped or pasted anywhere. Otherwise, the browser leaves the page. Returns whether some are over the window. */
export function useDroppedFiles(onFiles: (files: readonly File[]) => void): boolean {
  const [isOver, setOver] = useState(false);
  const take = useRef(onFiles);
  take.current = onFiles;
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    for (const type of ['dragenter', 'dragover', 'drop'] as const)
      addEventListener(
        type,
        (event) => {
          if (type === 'drop') setOver(false);
          if (!event.dataTransfer?.types.includes('Files')) return;
          event.preventDefault();
          if (type === 'drop') take.current([...event.dataTransfer.files]);
          else setOver(true);
        },
        { signal },
      );
    addEventListener(
      'paste',
      (event) => {
        const files = [...(event.clipboardData?.files ?? [])];
        if (files.length === 0) return;
        event.preventDefault();
        take.current(files);
      },
      { signal },
    );
    addEventListener('dragleave', ({ relatedTarget }) => relatedTarget === null && setOver(false), { signal });
    return () => leaving.abort();
  }, []);
  return isOver;
}

/** A text that this browser stores. Empty if there is none. */
export function useStored(key: string): readonly [string, (text: string) => void] {
  const [text, setText] = useState(() => localStorage.getItem(key) ?? '');
  const store = (next: string) => {
    localStorage.setItem(key, next);
    setText(next);
  };
  return [text, store];
}

/** Enter sends the form of a text. Shift and Enter begin a new line. */
export function submitOnEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}

export const useIsOnline = (): boolean => useSyncExternalStore(followOnline, () => navigator.onLine);

export const themes = [
  { value: 'system', title: 'System', command: 'Use the system’s theme', Icon: Monitor },
  { value: 'light', title: 'Light', command: 'Use the light theme', Icon: Sun },
  { value: 'dark', title: 'Dark', command: 'Use the dark theme', Icon: Moon },
] as const;
type Theme = (typeof themes)[number]['value'];

const themeKey = 'atelier.theme';

const shownTheme = createShared<Theme>('system');

function readTheme(): Theme {
  const stored = localStorage.getItem(themeKey);
  return themes.find(({ value }) => value === stored)?.value ?? 'system';
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

export function setTheme(theme: string): void {
  localStorage.setItem(themeKey, theme);
  showTheme();
}

export const useTheme = shownTheme.use;
