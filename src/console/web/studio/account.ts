/** What the user may spend, and on which models. */
import { useState } from 'react';
import type { CreditsState } from '../../../client/agent/api.ts';
import { type Model, useModels } from '../create/order.ts';
import { useOwn } from '../user.tsx';

/** Read again when `GET /events` reports a change. */
export const useCredits = () => useOwn<CreditsState>(['credits'], 'agent', '/credits').data;

const modelKey = 'atelier.model';

export interface ModelChoice {
  readonly models: readonly Model[];
  readonly chosen: Model | undefined;
  readonly choose: (id: string) => void;
}

/** The choice is stored in this browser. A model that the plan does not include is never chosen. */
export function useModelChoice(): ModelChoice {
  const [id, setId] = useState(() => localStorage.getItem(modelKey));
  const models = useModels('chat');
  const allowed = models.filter((model) => model.allowed);
  return {
    models,
    chosen: allowed.find((model) => model.id === id) ?? allowed.find((model) => model.default) ?? allowed[0],
    choose(next) {
      localStorage.setItem(modelKey, next);
      setId(next);
    },
  };
}

const number = new Intl.NumberFormat();
export const creditsOf = (credits: number): string =>
  `${number.format(credits)} ${credits === 1 ? 'credit' : 'credits'}`;
