// The command line's parser. The build puts the package's code in this file's place: a user installs none of it.
export { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
