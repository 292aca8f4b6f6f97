import { Grid2x2 } from 'lucide-react';
import { useState } from 'react';

const sizeKey = 'atelier.tile-size';
const smallest = 0.6;
const largest = 2;

/** The choice is stored in this browser. */
export function useTileSize(): readonly [number, (size: number) => void] {
  const [size, setSize] = useState(() => {
    const stored = Number(localStorage.getItem(sizeKey) ?? 1);
    return stored >= smallest && stored <= largest ? stored : 1;
  });
  const change = (next: number) => {
    localStorage.setItem(sizeKey, String(next));
    setSize(next);
  };
  return [size, change];
}

export function TileSize({ size, onChange }: { readonly size: number; readonly onChange: (size: number) => void }) {
  return (
    <label className="tilesize" title="Size of the images">
      <Grid2x2 size={16} strokeWidth={1.75} aria-hidden="true" />
      <input
        type="range"
        aria-label="Size of the images"
        min={smallest}
        max={largest}
        step={0.2}
        value={size}
        onChange={({ target }) => onChange(Number(target.value))}
      />
    </label>
  );
}
