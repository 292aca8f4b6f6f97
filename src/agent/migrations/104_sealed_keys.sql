-- The private key is sealed (src/platform/access/sealing.ts). Tokens of the keys before are valid for 5 minutes, so these are not kept.
delete from agent_signing_keys;
alter table agent_signing_keys drop column private_key, add column sealed_key text not null;
