/** A style sheet as text, as the bundler reads it. */
declare module '*.css' {
  const text: string;
  export default text;
}
