/** When a timer with this deadline is due, ms since 1970: times before 1970 are as good as then. */
export const dueTime = (deadline: number): number => Math.max(0, deadline);
