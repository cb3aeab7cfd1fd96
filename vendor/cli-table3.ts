// Tables in the terminal. The build puts the package's code in this file's place: a user installs none of it.
export { default } from 'cli-table3';
