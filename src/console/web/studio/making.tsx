/** Images that a tool is making: a place in their shape for each, until they are there. */
import { useState } from 'react';
import { Elapsed } from '../parts/elapsed.tsx';

const text = (input: unknown, name: string): unknown => Reflect.get(Object(input), name);

/** `input`: of the call, as far as the model has written it. */
export function Making({ input }: { readonly input: unknown }) {
  const [sinceMs] = useState(Date.now);
  // The service uses the choice of the composer where the model names nothing.
  const chosen: unknown = JSON.parse(localStorage.getItem('atelier.media') ?? '{}');
  const ratio = String(text(input, 'ratio') ?? text(chosen, 'ratio') ?? '1:1');
  const count = Math.min(4, Math.max(1, Number(text(input, 'n') ?? text(chosen, 'count') ?? 1)));
  return (
    <div className={`images of${count}`}>
      {Array.from({ length: count }, (_, place) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: the places have nothing else.
          key={place}
          className="place"
          ref={(box) =>
            box?.style.setProperty('aspect-ratio', /^\d+:\d+$/.test(ratio) ? ratio.replace(':', ' / ') : '1')
          }
        >
          {place === 0 && <Elapsed sinceMs={sinceMs} what={count === 1 ? 'image' : 'images'} />}
        </div>
      ))}
    </div>
  );
}
