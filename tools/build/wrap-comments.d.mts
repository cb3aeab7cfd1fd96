export declare const COLUMNS: number;
export declare function overlongComments(path: string, text: string): number[];
export declare function wrapComments(path: string, text: string): string;
