import { useConsole } from '../operator.tsx';

/** Operators who may only read see every page, without its controls. */
export const useMayChange = (): boolean => useConsole().data?.operator?.role === 'full';
