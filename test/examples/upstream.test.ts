import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Blackhole } from '../../dist/bench/proxy/blackhole.js';
import {
  continuesPattern,
  encodeRequest,
  MAX_ANSWER,
  patternOf,
  type Request,
  RequestReader,
} from '../../dist/bench/proxy/protocol.js';
import { TestUpstream } from '../../dist/bench/proxy/upstream.js';

test('requests are read the same, wherever the stream is cut into three chunks', () => {
  const sent: Request[] = [
    { verb: 'answer', answerBytes: 512, delay: 10, bodyBytes: 0 },
    { verb: 'stall', answerBytes: 7, delay: 0, bodyBytes: 20 },
    { verb: 'bye', answerBytes: 0, delay: 0, bodyBytes: 0 },
  ];
  const stream = Buffer.concat(sent.map(encodeRequest));
  let ways = 0;
  for (let first = 0; first <= stream.length; first++) {
    for (let second = first; second <= stream.length; second++) {
      const read: Request[] = [];
      const reader = new RequestReader((request) => read.push(request));
      for (const chunk of [stream.subarray(0, first), stream.subarray(first, second), stream.subarray(second)]) {
        reader.push(chunk);
      }
      expect(read).toEqual(sent);
      ways += 1;
    }
  }
  expect(ways).toBe(((stream.length + 1) * (stream.length + 2)) / 2);
});

test.each(['GET / HTTP/1.1\n', 'answer\n', 'answer 1 -1 0\n', `answer ${MAX_ANSWER + 1} 0 0\n`, 'x'.repeat(100)])(
  'no request: %j',
  (line) => {
    expect(() => new RequestReader(() => {}).push(Buffer.from(line))).toThrow('not a request');
  },
);

test('no stretch of the pattern occurs twice', () => {
  const pattern = patternOf(MAX_ANSWER);
  for (let offset = 0; offset + 64 < MAX_ANSWER; offset += 524_287) {
    const stretch = pattern.subarray(offset, offset + 64);
    expect(continuesPattern(stretch, offset)).toBe(true);
    expect([pattern.indexOf(stretch), pattern.indexOf(stretch, offset + 1)]).toEqual([offset, -1]);
  }
});

test('the upstream answers with the pattern, and hangs up on what is no request', async () => {
  const upstream = await TestUpstream.listen();
  const socket = connect({ port: upstream.port, host: '127.0.0.1' });
  socket.write(encodeRequest({ verb: 'answer', answerBytes: 1_000, delay: 0, bodyBytes: 5 }));
  const [answer] = await once(socket, 'data');
  expect(answer).toEqual(patternOf(1_000));
  socket.write('nonsense\n');
  await once(socket, 'close');
  await upstream.close();
});

test('the blackhole lets no connection through, and refuses none', async () => {
  const blackhole = await Blackhole.open();
  const sockets = Array.from({ length: 5 }, () => connect({ port: blackhole.port, host: '127.0.0.1' }));
  const events: string[] = [];
  for (const socket of sockets) {
    for (const event of ['connect', 'error', 'close']) socket.once(event, () => events.push(event));
  }
  await sleep(300); // long enough for a refusal, which takes less than a millisecond
  expect(events).toEqual([]);
  expect(sockets.map((socket) => socket.connecting)).toEqual([true, true, true, true, true]);
  for (const socket of sockets) socket.destroy();
  await blackhole.close();
});
