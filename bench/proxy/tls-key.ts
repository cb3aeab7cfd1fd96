import { type ConnectionOptions, createSecureContext, type TLSSocketOptions } from 'node:tls';

/*
 * TLS by a key that both sides know, so that no certificate is needed. It protects nothing here.
 */

const psk = Buffer.alloc(16, 7);
const identity = 'load';
const cipher = { ciphers: 'PSK-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' } as const;

/** Of a proxy whose clients speak TLS. */
export const pskServer = (): TLSSocketOptions & { pskCallback: () => Buffer } => ({
  secureContext: createSecureContext(cipher),
  pskCallback: () => psk,
});

export const pskClient: ConnectionOptions = {
  ...cipher,
  pskCallback: () => ({ psk, identity }),
  checkServerIdentity: () => undefined,
};
