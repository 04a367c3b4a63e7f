// An OAuth server that others wrote (npm package `oidc-provider`), with the routes of the contract.
// Run as `node oidc_provider.mjs` beside its node_modules; prints its address as JSON when it listens.

import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const base = '/realms/arena/protocol/openid-connect';
const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(url, {
    clients: [{
      client_id: 'arena-cli',
      token_endpoint_auth_method: 'none',
      grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
      redirect_uris: [],
      response_types: [],
    }],
    routes: {
      device_authorization: `${base}/auth/device`,
      token: `${base}/token`,
      revocation: `${base}/logout`,
      userinfo: `${base}/userinfo`,
      code_verification: '/realms/arena/device',
    },
    features: {
      deviceFlow: { enabled: true },
      revocation: { enabled: true },
      devInteractions: { enabled: true },
      // Access tokens as JWTs that end within the minute in which they are to be renewed.
      resourceIndicators: {
        enabled: true,
        defaultResource: () => 'urn:arena',
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'openid profile email', accessTokenFormat: 'jwt', accessTokenTTL: 45,
        }),
      },
    },
    claims: { openid: ['sub'], profile: ['name'], email: ['email'] },
    findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id, name: id }) }),
    issueRefreshToken: () => true,
    rotateRefreshToken: true, // a refresh token that is used twice ends the whole login
    ttl: { DeviceCode: 120, RefreshToken: 3600, Grant: 3600, Session: 3600, Interaction: 600 },
  });
  // Keycloak's logout takes the token under another name than RFC 7009 does.
  provider.use(async (ctx, next) => {
    if (ctx.method === 'POST' && ctx.path === `${base}/logout`) {
      const chunks = [];
      for await (const chunk of ctx.req) chunks.push(chunk);
      const form = new URLSearchParams(Buffer.concat(chunks).toString());
      form.set('token', form.get('refresh_token') ?? '');
      form.delete('refresh_token');
      ctx.req.body = form.toString();
    }
    await next();
  });
  server.on('request', provider.callback());
  console.log(JSON.stringify({ url }));
});
process.stdin.resume();
process.stdin.on('end', () => process.exit(0)); // ends with whoever started it
