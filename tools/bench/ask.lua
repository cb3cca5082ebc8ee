-- For wrk: posts one body after another, from number FIRST_BODY on, and prints the outcome as one line of JSON. The
-- bodies are the lines of the file that BODIES names, or the whole files that BODY_FILES names, one in each line. Times
-- are in milliseconds.
local requests = {}
local next_request

local function add(body)
  requests[#requests + 1] = wrk.format("POST", nil, nil, body)
end

function init()
  wrk.headers["Content-Type"] = os.getenv("CONTENT_TYPE") or "application/json"
  local files = os.getenv("BODY_FILES")
  if files then
    for name in files:gmatch("[^\n]+") do
      local file = assert(io.open(name, "rb"))
      add(file:read("*a"))
      file:close()
    end
  else
    for body in io.lines(os.getenv("BODIES")) do
      add(body)
    end
  end
  next_request = tonumber(os.getenv("FIRST_BODY") or "0") % #requests
end

function request()
  next_request = next_request % #requests + 1
  return requests[next_request]
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"answers": %d, "seconds": %f, "p50": %f, "p90": %f, "p99": %f, "refused": %d, "lost": %d}',
    summary.requests - errors.status, summary.duration / 1e6,
    latency:percentile(50) / 1e3, latency:percentile(90) / 1e3, latency:percentile(99) / 1e3,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
