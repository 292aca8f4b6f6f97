import names from './reasons.json' with { type: 'json' };

/** The reasons of reports, for the people who report and for operators. */
export const reasonNames: Readonly<Record<string, string>> = names;
export const reasonOf = (reason: string): string => reasonNames[reason] ?? reason;
