export const key: string;
export const cert: string;
