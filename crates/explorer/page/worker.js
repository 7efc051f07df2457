// Asks the WebAssembly module, one request after the other. Replies carry the request's number.
"use strict";
let module;
const text = { encode: new TextEncoder(), decode: new TextDecoder() };
onmessage = async ({ data }) => {
  if (data.module) {
    module = (await WebAssembly.instantiate(data.module, {})).exports;
    postMessage({ ready: true });
    return;
  }
  try {
    const request = text.encode.encode(JSON.stringify(data.request));
    const place = module.request(request.length);
    new Uint8Array(module.memory.buffer, place, request.length).set(request);
    const at = module.ask();
    const reply = new Uint8Array(module.memory.buffer, at, module.reply_length());
    postMessage({ number: data.number, reply: JSON.parse(text.decode.decode(reply)) });
  } catch (error) {
    // A module that has failed may be in any state: the page starts another.
    postMessage({ number: data.number, failed: String(error) });
  }
};
