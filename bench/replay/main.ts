#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { replayCommand } from './replay-command.ts';

process.exitCode = await replayCommand(process.argv.slice(2), 'npm start --', [fileURLToPath(import.meta.url)]);
