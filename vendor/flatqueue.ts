// The priority queue of the simulation. The build puts the package's code in this file's place: a user installs none of it.
export { default } from 'flatqueue';
