/** What the user can do on the page: shown by the command palette, and by the overview of shortcuts. */
import type { LucideIcon } from 'lucide-react';
import { useEffect, useId } from 'react';
import names from './keynames.json' with { type: 'json' };
import { createShared } from './shared.ts';

export interface Action {
  readonly id: string;
  readonly title: string;
  /** Heading in the palette. */
  readonly group: string;
  readonly Icon?: LucideIcon;
  /** For example `mod+k`, `?` or `g o`, which is one key after the other; `mod` is ⌘ on a Mac, and Ctrl elsewhere. */
  readonly keys?: string;
  /** Has a shortcut only: the palette does not list it. */
  readonly isHidden?: boolean;
  readonly perform: (text: string) => void;
  /** It uses the text of the palette, which is added to the title. */
  readonly takesText?: boolean;
  /** The text of the palette found it: it is not filtered again. */
  readonly isFound?: boolean;
  readonly note?: string;
}

/** The text of the palette. */
export const searched = createShared('');

const registered = new Map<string, readonly Action[]>();
const all = createShared<readonly Action[]>([]);

// Those of the page come first.
const publish = () => all.write([...registered.values()].reverse().flat());

/** Offers actions while the component is shown. Memoize the list of a component that is rendered often. */
export function useActions(actions: readonly Action[]): void {
  const key = useId();
  useEffect(() => {
    registered.set(key, actions);
    publish();
    return () => {
      registered.delete(key);
      publish();
    };
  }, [key, actions]);
}

export const useAllActions = all.use;

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Shortcuts without a modifier can be switched off, because speech input can trigger them. */
const singleKeysOffKey = 'atelier.single-keys-off';
export const hasSingleKeys = (): boolean => localStorage.getItem(singleKeysOffKey) === null;
export function setSingleKeys(isOn: boolean): void {
  if (isOn) localStorage.removeItem(singleKeysOffKey);
  else localStorage.setItem(singleKeysOffKey, 'yes');
}

/** The time of a `g`, which begins a sequence. */
let begunAtMs = Number.NEGATIVE_INFINITY;
const sequenceMs = 1500;

/** Performs the action of a pressed shortcut. Keys without a modifier are text while a field has the focus. */
export function performShortcut(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  const hasModifier = isMac ? event.metaKey : event.ctrlKey;
  if (!hasModifier && (event.metaKey || event.ctrlKey || isTyping(event.target) || !hasSingleKeys())) return;
  const isSecond = event.timeStamp - begunAtMs < sequenceMs;
  begunAtMs = event.key === 'g' && !isSecond ? event.timeStamp : Number.NEGATIVE_INFINITY;
  const action = all
    .read()
    .find(({ keys = '' }) => keys.startsWith('g ') === isSecond && matches(keys.replace('g ', ''), event, hasModifier));
  if (action === undefined) return;
  event.preventDefault();
  action.perform('');
}

function matches(keys: string, event: KeyboardEvent, hasModifier: boolean): boolean {
  const parts = keys.split('+');
  const key = parts.at(-1);
  if (parts.includes('mod') !== hasModifier || event.key.toLowerCase() !== key) return false;
  // A symbol such as `?` may need Shift on some keyboards only.
  return /^[a-z]$/.test(key) ? parts.includes('shift') === event.shiftKey : true;
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.closest('dialog') !== null)
  );
}

const labels: Readonly<Record<string, string>> = { ...names, mod: isMac ? '⌘' : 'Ctrl' };

/** The shortcut as its keys are labeled. */
export const labelsOf = (keys: string): readonly string[] =>
  keys.split(/[+ ]/).map((key) => labels[key] ?? key.toUpperCase());
