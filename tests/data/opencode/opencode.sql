PRAGMA page_size = 1024;
CREATE TABLE session (id text PRIMARY KEY, parent_id text, title text, time_created integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, data text);
INSERT INTO session VALUES ('ses_1', NULL, 'tests', 1), ('ses_2', 'ses_1', 'a sub-agent', 5);
INSERT INTO message VALUES
 ('m1', 'ses_1', 1, '{"role":"user","time":{"created":1777881600000}}'),
 ('m2', 'ses_1', 2, '{"role":"assistant","modelID":"gpt-5","time":{"created":1777881601000},"tokens":{"input":100,"output":10,"reasoning":5,"cache":{"read":400,"write":50}}}'),
 ('m3', 'ses_1', 3, '{"role":"assistant","modelID":"gpt-5","time":{"created":1777881604000}}'),
 ('m4', 'ses_1', 4, '{"role":"user","time":{"created":1777881607000}}'),
 ('m5', 'ses_2', 5, '{"role":"assistant","modelID":"gpt-5","time":{"created":1777881605000}}');
INSERT INTO part VALUES
 ('p01', 'm1', 'ses_1', 1, '{"type":"text","text":"Run the tests."}'),
 ('p02', 'm2', 'ses_1', 2, '{"type":"step-start"}'),
 ('p03', 'm2', 'ses_1', 2, '{"type":"reasoning","text":"Tests first."}'),
 ('p04', 'm2', 'ses_1', 2, '{"type":"text","text":"Running."}'),
 ('p05', 'm2', 'ses_1', 2, '{"type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{"command":"pytest -q"},"output":"1 failed\n","metadata":{"exit":1},"time":{"start":1777881602000,"end":1777881603000}}}'),
 ('p06', 'm2', 'ses_1', 2, '{"type":"tool","tool":"read","callID":"c2","state":{"status":"completed","input":{"filePath":"a.py"},"output":"import csv","metadata":{}}}'),
 ('p07', 'm3', 'ses_1', 3, '{"type":"tool","tool":"bash","callID":"c3","state":{"status":"error","input":{"command":"rm a"},"error":"The user rejected permission to use this specific tool call."}}'),
 ('p08', 'm3', 'ses_1', 3, '{"type":"tool","tool":"task","callID":"c4","state":{"status":"error","input":{"prompt":"x"},"error":"boom"}}'),
 ('p09', 'm4', 'ses_1', 4, '{"type":"compaction"}'),
 ('p10', 'm5', 'ses_2', 5, '{"type":"tool","tool":"bash","callID":"c9","state":{"status":"running","input":{"command":"sleep 9"}}}');
